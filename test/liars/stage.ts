import type { Random } from "../support/random.ts";
import type { Attempt } from "./attempt.ts";
import type { ScriptedIsland } from "./scripted-island.ts";

/** What a lie may use beside its own attempt. */
export interface Stage {
  readonly attempt: Attempt;
  readonly island: ScriptedIsland;
  readonly random: Random;
  readonly url: string;
  /** Attempts that other Islands have now. */
  readonly others: () => readonly Attempt[];
}
