import { DatabaseError } from "../database-error.ts";

/**
 * Mark of a data migration, in both databases (table `data_move`, which exists only during one and in its source
 * afterwards). A marked database cannot be opened: if both continued, each job would run and be paid twice.
 */
export interface MoveMark {
  /** Id of the migration, equal in both. */
  readonly id: string;
  readonly role: "source" | "target";
  /** Name of the other end. */
  readonly other: string;
  readonly isDone: boolean;
}

/** @throws {DatabaseError} if the database has a mark. `name`: its file or address. */
export function refuseMoved(name: string, mark: MoveMark | null): void {
  if (mark === null) return;
  const { role, other, isDone } = mark;
  if (role === "target") {
    const reason = `contains only part of the data of ${other}. Complete the move with the command migrate`;
    throw new DatabaseError(name, reason);
  }
  const reason = isDone
    ? `the data was moved to ${other}. Use that database`
    : `a move of the data to ${other} is not complete. Complete it with the command migrate`;
  throw new DatabaseError(name, `${reason}. To use this data again instead, run: migrate --from … --abandon`);
}
