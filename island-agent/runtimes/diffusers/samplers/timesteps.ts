import { spread } from "./noise-schedule.ts";

/** Where on the grid of training the steps lie. Source: Lin et al. 2023 ("Common Diffusion Noise Schedules…"), table 2. */
export const TIMESTEP_SPACINGS = ["linspace", "leading", "trailing"] as const;
export type TimestepSpacing = (typeof TIMESTEP_SPACINGS)[number];

export interface TimestepGrid {
  readonly spacing: TimestepSpacing;
  /** Added to each time of `leading`, which else ends at 0. */
  readonly offset: number;
  /** Steps of training; times are 0 to this less 1. */
  readonly count: number;
}

/** Times of `steps` steps, the noisiest first; fractions between the times of training with `linspace`. */
export function timestepsOf({ spacing, offset, count }: TimestepGrid, steps: number): number[] {
  switch (spacing) {
    case "linspace":
      // One step is the noisiest.
      return spread(count - 1, 0, steps);
    case "leading": {
      const gap = Math.floor(count / steps);
      return Array.from({ length: steps }, (_, i) => Math.min((steps - 1 - i) * gap + offset, count - 1));
    }
    case "trailing":
      return Array.from({ length: steps }, (_, i) => Math.round(count - (i * count) / steps) - 1);
    default:
      return spacing satisfies never;
  }
}
