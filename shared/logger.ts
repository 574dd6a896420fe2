/** A logger as it is handed to a module, which asks for the levels that it uses: `Pick<Log, "warn">`. Facts never hold prompts or answers. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** The levels of the agent. */
export type AgentLog = Pick<Log, "info" | "warn">;
