import { ServiceError } from "../../shared/errors.ts";
import { formatCredits } from "./micro-credits.ts";

/** The account cannot pay the required credits. */
export class InsufficientCreditsError extends ServiceError {
  override readonly name = "InsufficientCreditsError";
  readonly requiredMicro: bigint;
  readonly balanceMicro: bigint;
  constructor(requiredMicro: bigint, balanceMicro: bigint, advice = "") {
    const facts = `${formatCredits(requiredMicro)} needed, ${formatCredits(balanceMicro)} available`;
    super("insufficient_credits", `Not enough credits: ${facts}${advice}`);
    this.requiredMicro = requiredMicro;
    this.balanceMicro = balanceMicro;
  }

  /** Returns the error with a next step in its message. */
  withAdvice(advice: string): InsufficientCreditsError {
    return new InsufficientCreditsError(this.requiredMicro, this.balanceMicro, `. ${advice}`);
  }
}

/** The API key has reached its monthly limit. */
export class KeyCreditsError extends ServiceError {
  override readonly name = "KeyCreditsError";
  readonly requiredMicro: number;
  readonly leftMicro: number;
  /** Start of the next month, when the spending of the key starts at 0 again. */
  readonly renewsAtMs: number;
  constructor(requiredMicro: number, leftMicro: number, renewsAtMs: number, advice = "") {
    const facts = `${formatCredits(requiredMicro)} needed, ${formatCredits(leftMicro)} left until ${new Date(renewsAtMs).toISOString()}`;
    super("key_credits_exceeded", `The API key has reached its monthly limit: ${facts}${advice}`);
    this.requiredMicro = requiredMicro;
    this.leftMicro = leftMicro;
    this.renewsAtMs = renewsAtMs;
  }

  /** Returns the error with a next step in its message. */
  withAdvice(advice: string): KeyCreditsError {
    return new KeyCreditsError(this.requiredMicro, this.leftMicro, this.renewsAtMs, `. ${advice}`);
  }
}
