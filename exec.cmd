@rem npm's scripts begin with exec, so that a signal sent to npm reaches the program and not a shell between them.
@rem cmd.exe has no exec and finds this file instead, which runs the rest of the line.
@%*
