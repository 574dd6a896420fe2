import { it } from "vitest";
import { soakRounds } from "../../../support/soak-rounds.ts";
import { playFeeds } from "./feed-play.ts";

it("feeds give readers the whole output, without gap or repeat, whatever happens to coordinators and messages", async () => {
  for (let seed = 1; seed <= soakRounds(300); seed += 1) {
    await playFeeds(seed).catch((error: unknown) => {
      throw new Error(`With seed ${seed}`, { cause: error });
    });
  }
});
