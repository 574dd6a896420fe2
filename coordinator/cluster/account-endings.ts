import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Members } from "./members.ts";

/** A coordinator cancels the jobs of one account in less. */
const TIMEOUT_MS = 5_000;

export interface AccountEndingsDeps {
  readonly bus: Pick<Bus, "request" | "answer">;
  readonly members: Pick<Members, "self" | "living">;
  readonly log: Pick<Logger, "warn">;
  /** Cancels the unfinished jobs of the account that this coordinator owns. */
  readonly endHere: (accountId: string) => Promise<void>;
}

/**
 * Cancels the unfinished jobs of a deleted account, whichever coordinator owns them (request `<id>.end_account`). One that cannot be
 * reached ends them when the removal of the account is tried again, or they end by themselves; until then the removal is under way.
 */
export class AccountEndings {
  readonly #deps: AccountEndingsDeps;
  readonly #unsubscribe: Unsubscribe;

  constructor(deps: AccountEndingsDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.bus.answer(subjectOf(deps.members.self.id), async (message) => {
      const { accountId } = message as { accountId?: unknown };
      if (typeof accountId !== "string") throw new TypeError("The message names no account");
      await deps.endHere(accountId);
      return null;
    });
  }

  /** Resolves when the jobs are cancelled wherever a coordinator answers. */
  async end(accountId: string): Promise<void> {
    const { bus, members, log, endHere } = this.#deps;
    const others = members.living.filter(({ id }) => id !== members.self.id);
    const asked = others.map(({ id }) =>
      bus.request(subjectOf(id), { accountId }, TIMEOUT_MS).catch((error: unknown) => {
        log.warn(
          { err: error, coordinator: id },
          "Jobs of a deleted account may go on at a coordinator that did not answer",
        );
      }),
    );
    await Promise.all([endHere(accountId), ...asked]);
  }

  close(): void {
    this.#unsubscribe();
  }
}

const subjectOf = (coordinatorId: string): string => `${coordinatorId}.end_account`;
