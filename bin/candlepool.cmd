@rem The command for the command prompt and PowerShell of Windows, which do not start bin/candlepool by its first line.
@node "%~dp0candlepool" %*
