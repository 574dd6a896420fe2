const CREDITS = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });
const ROUNDED_CREDITS = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const INTEGER = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const ONE_DECIMAL = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** Formats credits with two decimals, or with six below 1. */
export function formatCredits(credits: number): string {
  return Math.abs(credits) >= 1 || credits === 0 ? ROUNDED_CREDITS.format(credits) : CREDITS.format(credits);
}

const MICRO_PER_CREDIT = 1_000_000;
const MICRO_PER_HUNDREDTH = 10_000;

/** Formats a balance like {@link formatCredits}, but rounds down. */
export function formatBalance(credits: number): string {
  // Round in micro-credits, where a hundredth is a whole number: 1.15 is slightly less in binary.
  const micro = Math.round(credits * MICRO_PER_CREDIT);
  if (Math.abs(micro) < MICRO_PER_CREDIT) return formatCredits(credits);
  return formatCredits((Math.floor(micro / MICRO_PER_HUNDREDTH) * MICRO_PER_HUNDREDTH) / MICRO_PER_CREDIT);
}

export const formatWhole = (value: number): string => INTEGER.format(value);

/** Formats with at most one decimal, such as "2.5". */
export const formatRate = (value: number): string => ONE_DECIMAL.format(value);

/** Formats a share of 0 to 1 as "97 %" or "99.7 %"; "–" for null. */
export function formatShare(share: number | null): string {
  if (share === null) return "–";
  const isWhole = share === 0 || share === 1 || (share >= 0.1 && share < 0.99);
  return `${(share * 100).toFixed(isWhole ? 0 : 1)} %`;
}

/** Formats megabytes of 2^20 bytes as "7.8 GiB", like the coordinator's messages and commands. */
export function formatMegabytes(megabytes: number): string {
  if (megabytes >= 1_024 * 1_024) return `${ONE_DECIMAL.format(megabytes / 1_024 / 1_024)} TiB`;
  return megabytes >= 1_024 ? `${ONE_DECIMAL.format(megabytes / 1_024)} GiB` : `${INTEGER.format(megabytes)} MiB`;
}

/** Formats a duration as "120 ms", "4.2 s", "3 min 5 s" or "1 h". */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${INTEGER.format(ms)} ms`;
  if (ms < 60_000) return `${ONE_DECIMAL.format(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600), Math.floor(seconds / 86_400)];
  if (minutes < 60) return inTwoUnits(minutes, "min", seconds % 60, "s");
  if (hours < 48) return inTwoUnits(hours, "h", minutes % 60, "min");
  return inTwoUnits(days, "d", hours % 24, "h");
}

function inTwoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return `${large} ${largeUnit}${small === 0 ? "" : ` ${small} ${smallUnit}`}`;
}
