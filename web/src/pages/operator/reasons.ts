const WORDS: Readonly<Record<string, string>> = {
  own_islands_only: "Only the owner’s Islands may run it",
  no_island_online: "No Island is online",
  no_island_offers_runtime: "No Island has the runtime",
  no_island_fits: "No Island is suitable",
  all_busy: "All suitable Islands are busy",
  all_refused: "All suitable Islands refused",
  all_failing: "All suitable Islands are failing",
  model_downloading: "A model is being downloaded",
  starting: "Starting",
  no_output: "Running without output",
  account_limit: "Account limit reached",
};

/** Returns a waiting reason in words. Newer coordinators may send unknown reasons. */
export const reasonInWords = (reason: string): string => WORDS[reason] ?? reason.replaceAll("_", " ");
