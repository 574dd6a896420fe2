import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { CHROMIUM } from "../sdk/browser-page.ts";
import { requireDebian } from "../support/servers/require-debian.ts";

/** Flags of a coordinator whose console is tested. `trustProxy` allows each page to have its own address. */
export const CONSOLE_FLAGS = { trustProxy: true, registration: "open" } as const;

/** Headless Chromium that drives the console. */
export class ConsoleBrowser implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #url: string;
  #pages = 0;

  private constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#url = url;
  }

  static async open(url: string): Promise<ConsoleBrowser> {
    requireDebian(CHROMIUM, "chromium");
    const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    return new ConsoleBrowser(await chromium.launch({ executablePath: CHROMIUM, args }), url);
  }

  /** Opens a page with a new session. `faults` collects script errors, blocked content and requests to other origins. */
  async page(options: BrowserContextOptions = {}): Promise<{ page: Page; faults: string[] }> {
    // A separate address for each page, so that pages do not share the limit of sign-in attempts.
    const extraHTTPHeaders = { "x-forwarded-for": `10.0.0.${(this.#pages += 1)}` };
    const context = await this.#browser.newContext({ baseURL: this.#url, extraHTTPHeaders, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML/i.test(message.text())) faults.push(message.text());
    });
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== "data:" && origin !== new URL(this.#url).origin) faults.push(`request to ${request.url()}`);
    });
    return { page, faults };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

export async function register(page: Page, email: string, password = "correct horse"): Promise<void> {
  await page.goto("/register");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Open an account" }).click();
  await page.locator("main#main").waitFor();
}

export async function signIn(page: Page, email: string, password = "correct horse"): Promise<void> {
  await page.goto("/sign-in");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("main#main").waitFor();
}
