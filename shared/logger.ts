/** The part of a logger that the agent needs. Facts never hold prompts or answers. */
export interface AgentLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}
