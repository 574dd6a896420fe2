import { ServiceError } from "../../shared/errors.ts";
import { formatCredits } from "./micro-credits.ts";

/** The account cannot pay the required credits. */
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

/** The API key has reached its monthly limit. */
export class KeyCreditsError extends ServiceError {
  override readonly name = "KeyCreditsError";
  readonly requiredMicro: number;
  readonly leftMicro: number;
  /** Start of the next month, when the spending of the key starts at 0 again. */
  readonly renewsAtMs: number;
  constructor(requiredMicro: number, leftMicro: number, renewsAtMs: number) {
    const facts = `${formatCredits(requiredMicro)} needed, ${formatCredits(leftMicro)} left until ${new Date(renewsAtMs).toISOString()}`;
    super("key_credits_exceeded", `The API key has reached its monthly limit: ${facts}`);
    this.requiredMicro = requiredMicro;
    this.leftMicro = leftMicro;
    this.renewsAtMs = renewsAtMs;
  }
}
