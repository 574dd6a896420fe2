import { DatabaseError } from "../database-error.ts";

/**
 * Note of a move of all data, in both databases (table `data_move`, which is there only while it says something). While there is one,
 * nobody opens the database: of two copies that both go on, each job would run and be paid twice.
 */
export interface MoveMark {
  /** The same in both. */
  readonly id: string;
  readonly role: "source" | "target";
  /** The other one. */
  readonly other: string;
  readonly isDone: boolean;
}

/** @throws {DatabaseError} if the database must not be opened. `name`: its file or address. */
export function refuseMoved(name: string, mark: MoveMark | null): void {
  if (mark === null) return;
  throw new DatabaseError(name, reasonOf(mark));
}

function reasonOf({ role, other, isDone }: MoveMark): string {
  if (role === "target")
    return `contains only part of the data of ${other}. Complete the move with the command migrate`;
  const again = "To use this data again instead, run: migrate --from … --abandon";
  return isDone
    ? `the data was moved to ${other}. Use that database. ${again}`
    : `a move of the data to ${other} is not complete. Complete it with the command migrate. ${again}`;
}
