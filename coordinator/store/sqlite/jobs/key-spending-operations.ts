import type Database from "better-sqlite3";
import { KeyCreditsError } from "../../../credits/credit-errors.ts";
import { monthBeginMs, type SubmittingKey, type UtcMonth } from "../../accounts/key-spending.ts";

/** Prepares the count of spending by API key. For a key without a monthly limit nothing is written. */
export function prepareKeySpending(db: Database.Database) {
  const select = db
    .prepare<[number, UtcMonth], number>("SELECT micro FROM key_spending WHERE key_number = ? AND month >= ?")
    .pluck();
  // If the clock of a process is behind, its jobs count in the newer month.
  const add = db
    .prepare<{ number: number; month: UtcMonth; neededMicro: number }, UtcMonth>(
      `INSERT INTO key_spending (key_number, month, micro) VALUES (@number, @month, @neededMicro)
       ON CONFLICT DO UPDATE SET micro = CASE WHEN month >= excluded.month THEN micro ELSE 0 END + excluded.micro,
         month = max(month, excluded.month)
       RETURNING month`,
    )
    .pluck();
  const refund = db.prepare<[number, number, UtcMonth]>(
    "UPDATE key_spending SET micro = max(0, micro - ?) WHERE key_number = ? AND month = ?",
  );
  return {
    /** Checks the limit before anything is written. @throws {KeyCreditsError} if the jobs would exceed it. */
    assertAllows(key: SubmittingKey | null | undefined): void {
      const { number, monthly } = key ?? { number: 0, monthly: null };
      if (monthly === null || monthly.neededMicro === 0) return;
      const { limitMicro, month, neededMicro } = monthly;
      const leftMicro = Math.max(0, limitMicro - (select.get(number, month) ?? 0));
      if (neededMicro > leftMicro) throw new KeyCreditsError(neededMicro, leftMicro, monthBeginMs(month + 1));
    },
    /** Adds the prices of the jobs. Returns the month in which they count; null without a monthly limit. */
    add(key: SubmittingKey | null | undefined): UtcMonth | null {
      if (!key?.monthly) return null;
      const { month, neededMicro } = key.monthly;
      return add.get({ number: key.number, month, neededMicro }) ?? month;
    },
    refund(keyNumber: number, month: UtcMonth, micro: number): void {
      if (micro > 0) refund.run(micro, keyNumber, month);
    },
  };
}
