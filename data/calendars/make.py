"""Makes src/engine/bars/exchanges.json: trading days and hours of exchanges, by two well-kept Python packages.

    pip install exchange_calendars==4.13.2 pandas_market_calendars==5.5.0
    python data/calendars/make.py

Of the packages for Node, none is kept up and knows early closes: trading-calendar has one release, nyse-holidays names
the holidays of one exchange without its half days, and date-holidays has public holidays, on which exchanges may trade.

A day that is not named has the hours of its exchange: Monday to Friday those of `hours`, from a date on. `closed` names
weekdays without a session, `extra` weekends with one, and `other` days with hours of their own. Times are those of the
time zone, `-1 17:00` is 17:00 on the day before, and `12:00-13:00` in parentheses is a break.
"""

import hashlib
import json
import pathlib
import warnings
from collections import Counter, defaultdict

warnings.filterwarnings("ignore")
import exchange_calendars  # noqa: E402
import pandas  # noqa: E402
import pandas_market_calendars  # noqa: E402

LAST = "2035-12-31"
NYSE, CME = "pandas_market_calendars NYSE", "pandas_market_calendars CME_Equity"
# MIC: (what it is, other names with the same days and hours, where it is from, the first year)
EXCHANGES = {
    "XNYS": ("New York Stock Exchange, and Nasdaq", ["XNAS", "ARCX", "XASE", "BATS"], NYSE, 1970),
    "XCME": ("Equity futures of the Chicago Mercantile Exchange", ["CMES"], CME, 1998),
    "XTSE": ("Toronto Stock Exchange", [], "XTSE", 1990),
    "BVMF": ("B3, São Paulo", [], "BVMF", 2000),
    "XLON": ("London Stock Exchange", [], "XLON", 1990),
    "XETR": ("Xetra and Frankfurt", ["XFRA"], "XETR", 1990),
    "XPAR": ("Euronext Paris, Amsterdam and Brussels", ["XAMS", "XBRU"], "XPAR", 1990),
    "XMIL": ("Borsa Italiana", [], "XMIL", 1990),
    "XMAD": ("Bolsa de Madrid", [], "XMAD", 1990),
    "XSWX": ("SIX Swiss Exchange", [], "XSWX", 1990),
    "XSTO": ("Nasdaq Stockholm", [], "XSTO", 1990),
    "XTKS": ("Tokyo Stock Exchange", ["XJPX"], "XTKS", 1997),
    "XHKG": ("Hong Kong Exchanges", [], "XHKG", 1990),
    "XSHG": ("Shanghai and Shenzhen", ["XSHE"], "XSHG", 1991),
    "XTAI": ("Taiwan Stock Exchange", [], "XTAI", 1990),
    "XKRX": ("Korea Exchange", [], "XKRX", 1990),
    "XSES": ("Singapore Exchange", [], "XSES", 1990),
    "XBOM": ("BSE and NSE, Mumbai", ["XNSE"], "XBOM", 1997),
    "XASX": ("Australian Securities Exchange", [], "XASX", 1990),
}
# Sessions among so many that must agree before hours count as new.
STRETCH = 30


def schedule_of(source: str, year: int) -> tuple[pandas.DataFrame, str, str]:
    """Opens, closes and breaks of the sessions, UTC; the time zone; and the last day that the package knows."""
    first = f"{year}-01-01"
    if source.startswith("pandas_market_calendars "):
        calendar = pandas_market_calendars.get_calendar(source.split()[1])
        table = calendar.schedule(first, LAST)[["market_open", "market_close"]]
        table.columns = ["open", "close"]
        return table.assign(break_start=pandas.NaT, break_end=pandas.NaT), str(calendar.tz), LAST
    bound = getattr(exchange_calendars.get_calendar(source), "bound_max")()
    last = LAST if bound is None else min(LAST, str(bound.date()))
    calendar = exchange_calendars.get_calendar(source, start=first, end=last)
    return calendar.schedule, str(calendar.tz), last


def hours_of(day: pandas.Timestamp, row: pandas.Series, timezone: str) -> str:
    def clock(time: pandas.Timestamp) -> str:
        local = time.tz_convert(timezone)
        days = (local.tz_localize(None).normalize() - day).days
        return f"{days} {local:%H:%M}" if days else f"{local:%H:%M}"

    text = f"{clock(row.open)}-{clock(row.close)}"
    has_break = not pandas.isna(row.break_start) and row.break_start < row.break_end
    return f"{text} ({clock(row.break_start)}-{clock(row.break_end)})" if has_break else text


def by_year(days: list[pandas.Timestamp]) -> dict[str, str]:
    years = defaultdict(list)
    for day in days:
        years[str(day.year)].append(f"{day:%m%d}")
    return {year: " ".join(texts) for year, texts in years.items()}


def exchange(title: str, aliases: list[str], source: str, year: int) -> dict:
    table, timezone, last = schedule_of(source, year)
    sessions = [(day, hours_of(day, row, timezone)) for day, row in table.iterrows()]
    hours, other = {}, defaultdict(list)
    regular = None
    for index, (day, text) in enumerate(sessions):
        if text != regular:
            ahead = Counter(one for _, one in sessions[index : index + STRETCH])
            if ahead[text] > STRETCH / 2:
                regular = text
                hours[f"{day:%Y-%m-%d}"] = text
            else:
                other[text].append(day)
    known = {day for day, _ in sessions}
    weekdays = pandas.bdate_range(f"{year}-01-01", last)
    return {
        "title": title,
        "aliases": aliases,
        "timezone": timezone,
        "from": f"{year}-01-01",
        "to": last,
        "hours": hours,
        "closed": by_year([day for day in weekdays if day not in known]),
        "extra": by_year([day for day in sorted(known) if day.weekday() > 4]),
        "other": {text: by_year(days) for text, days in sorted(other.items())},
    }


def main() -> None:
    script = pathlib.Path(__file__)
    made = {
        "recipe": hashlib.sha256(script.read_bytes()).hexdigest(),
        "packages": f"exchange_calendars {exchange_calendars.__version__}, "
        f"pandas_market_calendars {pandas_market_calendars.__version__}",
        "exchanges": {name: exchange(*of) for name, of in EXCHANGES.items()},
    }
    out = script.parents[2] / "src" / "engine" / "bars" / "exchanges.json"
    out.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n")


main()
