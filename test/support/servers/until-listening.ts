import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { systemClock } from "../../../shared/clock.ts";

const MAX_START_MS = 20_000;

/** Resolves when the port accepts connections. @throws if the program ends first. */
export async function untilListening(port: number, child: ChildProcess): Promise<void> {
  const limit = AbortSignal.timeout(MAX_START_MS);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    limit.throwIfAborted();
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await systemClock.sleep(20);
  }
}
