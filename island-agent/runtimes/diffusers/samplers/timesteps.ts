import { linspace } from "./noise-schedule.ts";

/** Spacing over the training timesteps. Source: Lin et al. 2023 ("Common Diffusion Noise Schedules…"), table 2. */
export const TIMESTEP_SPACINGS = ["linspace", "leading", "trailing"] as const;
export type TimestepSpacing = (typeof TIMESTEP_SPACINGS)[number];

export interface TimestepGrid {
  readonly spacing: TimestepSpacing;
  /** Offset that is added to each timestep of `leading`, which otherwise ends at 0. */
  readonly offset: number;
  /** Number of timesteps of training, which are 0 to `count` - 1. */
  readonly count: number;
}

/** Returns the timesteps of `steps` steps, the noisiest first. `linspace` may return fractions. */
export function timestepsOf({ spacing, offset, count }: TimestepGrid, steps: number): number[] {
  switch (spacing) {
    case "linspace":
      // A single step is the noisiest one.
      return linspace(count - 1, 0, steps);
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
