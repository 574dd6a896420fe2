import { useEffect } from "preact/hooks";

/** Figures over all coordinators come without events; the coordinators gather them at most once in 2 s. */
const REFRESH_MS = 3_000;

/** Reads again while the page is looked at. */
export function useRefresh(reload: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
}
