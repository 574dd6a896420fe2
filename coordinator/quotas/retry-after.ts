/** Nobody can tell when a job or a stream will end; a client that asks once a second loses little and costs little. */
export const RETRY_AFTER_S = 1;
