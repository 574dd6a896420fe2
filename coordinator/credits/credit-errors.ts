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

/** The jobs of an API key would cost more in this month than it may spend. In micro-credits: what was needed, and what is left. */
export class KeyCreditsError extends ServiceError {
  override readonly name = "KeyCreditsError";
  readonly requiredMicro: number;
  readonly leftMicro: number;
  /** When the next month begins. */
  readonly renewsAtMs: number;
  constructor(requiredMicro: number, leftMicro: number, renewsAtMs: number) {
    const facts = `${formatCredits(requiredMicro)} needed, ${formatCredits(leftMicro)} left until ${new Date(renewsAtMs).toISOString()}`;
    super("key_credits_exceeded", `The API key has spent what it may in a month: ${facts}`);
    this.requiredMicro = requiredMicro;
    this.leftMicro = leftMicro;
    this.renewsAtMs = renewsAtMs;
  }
}
