const WORDS: Readonly<Record<string, string>> = {
  own_islands_only: "Only its owner’s Islands may run it",
  no_island_online: "No Island is online",
  no_island_offers_runtime: "No Island has the runtime",
  no_island_fits: "No Island fits",
  all_busy: "All fitting Islands are busy",
  all_refused: "All fitting Islands refused",
  all_failing: "All fitting Islands fail",
  model_downloading: "A model is being downloaded",
  starting: "Starting",
  no_output: "Runs without output",
  account_limit: "Limit of the account",
};

/** A coordinator that is newer may have other reasons. */
export const reasonInWords = (reason: string): string => WORDS[reason] ?? reason.replaceAll("_", " ");
