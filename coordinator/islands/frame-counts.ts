import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";

/** Frames of all Islands by type. One more is one addition: some frames are a single token. */
export interface FrameCounts {
  readonly received: Record<FromIsland["type"], number>;
  readonly sent: Record<FromCoordinator["type"], number>;
}

export function noFrames(): FrameCounts {
  return {
    received: {
      hello: 0,
      heartbeat: 0,
      accepted: 0,
      refused: 0,
      started: 0,
      output: 0,
      finished: 0,
      failed: 0,
      cancelled: 0,
      taken: 0,
      draining: 0,
      accepting: 0,
      wanted: 0,
    },
    sent: { welcome: 0, assign: 0, cancel: 0, ack: 0, preload: 0, goodbye: 0 },
  };
}
