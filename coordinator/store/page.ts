/** Part of a list. */
export interface Page {
  /** 1 to 100. */
  readonly limit: number;
  /** How many come before it. */
  readonly offset: number;
}
