import type { Random } from "../support/random.ts";
import type { Attempt } from "./attempt.ts";
import type { ScriptedIsland } from "./scripted-island.ts";

/** Context of a lie in addition to its own attempt. */
export interface Stage {
  readonly attempt: Attempt;
  readonly island: ScriptedIsland;
  readonly random: Random;
  readonly url: string;
  /** Current attempts of other Islands. */
  readonly others: () => readonly Attempt[];
}
