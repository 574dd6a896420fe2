import { ServiceError } from "../../shared/errors.ts";
import { formatCredits } from "./micro-credits.ts";

/** An account cannot pay. In micro-credits: what was needed, and what it may spend. */
export class InsufficientCreditsError extends ServiceError {
  override readonly name = "InsufficientCreditsError";
  readonly requiredMicro: bigint;
  readonly balanceMicro: bigint;
  constructor(requiredMicro: bigint, balanceMicro: bigint) {
    const facts = `${formatCredits(requiredMicro)} needed, ${formatCredits(balanceMicro)} available`;
    super("insufficient_credits", `Not enough credits: ${facts}`);
    this.requiredMicro = requiredMicro;
    this.balanceMicro = balanceMicro;
  }
}
