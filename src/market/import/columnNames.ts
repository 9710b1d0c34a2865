// Column names: what the columns of bars are called in the files of vendors, libraries and countries.

export const NAMES = {
  // An open time is preferred to all other columns, and one in UTC to one that does not say its zone; the empty name
  // is the unnamed index of pandas.
  time: [
    'opentime', 'timeopen', 'candledatetimeutc', 'gmttime', 'utctime', 'timeutc', 'datetimeutc', 'dateutc',
    'snapshottimeutc', 'windowstart', 'tsevent', 'timestamp', 'datetime', 'timeperiodstart', 'periodstart', 'barstart',
    'starttime', 'startedat', 'beginsat',
    'time', 'date', 'dt', 'ts', 't', 'unix', 'unixtime', 'unixtimestamp', 'epoch', 'mts', 'start', 'tradedate',
    'tradingday', 'tradedatetime', 'observationdate', 'datadate', 'quotedate', 'caldt', 'datetimestamp', 'datum',
    'datumzeit', 'zeitstempel', 'zeit', 'fecha', 'data', 'dataora', 'dtyyyymmdd', 'traddt', 'localtime', 'begin',
    '日期', '时间', 'index', 'indexlevel', 'unnamed', '',
  ],
  closeTime: ['closetime', 'timeclose', 'timeperiodend', 'periodend', 'endtime'],
  open: [
    'open', 'o', 'openprice', 'priceopen', 'openbid', 'bidopen', 'eröffnung', 'eröffnungskurs', 'eröffn', 'erster',
    'apertura', 'abertura', 'ouv', 'ouverture', 'openingprice', 'firsttradeprice', 'opnpric', '开盘', '开盘价',
  ],
  high: [
    'high', 'h', 'highprice', 'pricehigh', 'highbid', 'bidhigh', 'max', 'hoch', 'höchst', 'höchstkurs', 'tageshoch',
    'máximo', 'máxima', 'massimo', 'plushaut', 'hightradeprice', 'hghpric', '最高', '最高价',
  ],
  low: [
    'low', 'l', 'lowprice', 'pricelow', 'lowbid', 'bidlow', 'min', 'tief', 'tiefst', 'tiefstkurs', 'tagestief',
    'mínimo', 'mínima', 'minimo', 'plusbas', 'lowtradeprice', 'lwpric', '最低', '最低价',
  ],
  // "Price" is the close in the files of investing.com, "Zuletzt" in its German ones.
  close: [
    'close', 'c', 'closeprice', 'priceclose', 'closebid', 'bidclose', 'closelast', 'last', 'schluss', 'schlusskurs',
    'zuletzt', 'letzter', 'último', 'ultimo', 'cierre', 'dernier', 'clôture', '收盘', '收盘价', 'price', 'lastprice',
    'settle', 'settlement', 'lasttradeprice', 'tradeprice', 'clspric',
  ],
  // "Stücke" (units) come first: in German files that have both, "Volumen" is money.
  // "updown" is the sum of the volume at rising and at falling prices.
  volume: [
    'volume', 'vol', 'v', 'basevolume', 'volumebase', 'volumetraded', 'totalvolume', 'volumefrom', 'basetokenvolume',
    'candleacctradevolume', 'tottrdqty', 'ttltradgvol', 'updown', 'stück', 'stücke', 'volumen', '成交量',
  ],
  ticks: ['tickvol', 'tickvolume'],
  symbol: [
    'symbol', 'ticker', 'tic', 'instrument', 'code', 'asset', 'pair', 'tscode', 'actsymbol', 'instrumentid', 'permno',
  ],
  adjustedClose: ['adjclose', 'adjustedclose', 'closeadj', 'adjusted', 'closeadjusted', 'adjclosingprice'],
} as const; // prettier-ignore

/** The four prices and the volume as vendors write them after adjustment: Tiingo's adjOpen. */
export const ADJUSTED_NAMES = {
  open: ['adjopen', 'adjustedopen', 'openadj'],
  high: ['adjhigh', 'adjustedhigh', 'highadj'],
  low: ['adjlow', 'adjustedlow', 'lowadj'],
  close: NAMES.adjustedClose,
  volume: ['adjvolume', 'adjustedvolume', 'volumeadj'],
} as const;

/** Columns of events that change prices. */
export const EVENT_NAMES = [
  'dividends', 'dividend', 'dividendamount', 'divcash', 'exdividend', 'stocksplits', 'stocksplit', 'splits',
  'splitfactor', 'splitcoefficient', 'splitratio',
] as const; // prettier-ignore

/** "Volume BTC", "Volume (USD)"; not "Volume MA", which TradingView exports beside the volume. */
export const NAMED_VOLUME = /^volume[ _(]+(?!s?ma\b|avg|average|quote)/i;
/** Binance's klines end in a column that its documentation calls "ignore". */
export const WORTHLESS: ReadonlySet<string> = new Set(['ignore']);

/**
 * "Open Time", "open_time", "<OPEN>", "1. open" and "__index_level_0__" without punctuation and numbering, and German
 * names with their umlauts.
 */
export const normalizeName = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replace(/^(?:er)?oeff|^hoech|^stueck/, (part) => part.replace('oe', 'ö').replace('ue', 'ü'))
    .replace('ß', 'ss')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/^\d+|\d+$/g, '');

/** The columns that have a name. */
export function indexesOf(names: readonly string[], name: string): number[] {
  return names.flatMap((candidate, index) => (candidate === name ? [index] : []));
}

/** The columns that have one of the names, those of the first name first. */
export const indexesOfAny = (names: readonly string[], aliases: readonly string[]): number[] =>
  aliases.flatMap((alias) => indexesOf(names, alias));
