/**
 * Tells mat what this pi does: `mat hook pi EVENT` with one JSON object on stdin.
 *
 * Loaded for one launch by `pi --extension …/mat.ts`; nothing is written to the user's settings. It does nothing unless
 * MAT_SESSION is set, never makes pi wait but at its end (2 s at most), and no failure of it is seen by pi.
 *
 * Events: session-start, prompt-submitted, turn-started, turn-ended, compaction, session-end.
 *
 * - Reports leave one after the other, so that no turn ends before it has started; each carries `n`, counted from 1.
 * - `ts_ms` is when it happened (Date.now()), not when mat heard of it.
 * - pi ends a turn for each attempt that failed and then tries again by itself. Such an end is held back for as long as
 *   pi waits before its next attempt; when that begins, it is one turn still and the end is dropped.
 * - A turn that went wrong is `turn-ended` with `outcome: error` and `error`, what the program said of it.
 * - `session_id` is the name of the session's file without its ending, for mat names the file: `--session PATH`.
 * - SIGTERM, SIGHUP and SIGKILL end pi without `session-end`.
 */
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { SettingsManager, type ExtensionAPI } from "@mariozechner/pi-coding-agent";

const REPORT_TIMEOUT_MS = 5_000;
const FAREWELL_MS = 2_000;
const QUEUE_MAX = 200;
const RETRY_SLACK_MS = 1_500;

type Data = Record<string, unknown>;

/** Runs one `mat hook` at a time, oldest first; `drained` is for the end of the program. */
class Reports {
  private waiting: { event: string; data: Data }[] = [];
  private running = false;
  private count = 0;
  private lost = 0;
  private idle: (() => void)[] = [];

  send(event: string, data: Data): void {
    this.count += 1;
    if (this.waiting.length >= QUEUE_MAX) {
      this.waiting.shift();
      this.lost += 1;
    }
    const lost = this.lost > 0 ? { lost: this.lost } : {};
    this.waiting.push({ event, data: { ts_ms: Date.now(), n: this.count, pid: process.pid, ...lost, ...data } });
    this.next();
  }

  drained(): Promise<void> {
    if (!this.running) return Promise.resolve();
    return new Promise((resolve) => {
      this.idle.push(resolve);
      setTimeout(resolve, FAREWELL_MS).unref();
    });
  }

  private next(): void {
    if (this.running) return;
    const report = this.waiting.shift();
    if (report === undefined) {
      for (const resolve of this.idle.splice(0)) resolve();
      return;
    }
    this.running = true;
    run(report.event, JSON.stringify(report.data), () => {
      this.running = false;
      this.next();
    });
  }
}

/** `mat hook pi EVENT` in a process group of its own. `done` is called once, whatever happens. */
function run(event: string, input: string, done: () => void): void {
  let over = false;
  const finish = () => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    done();
  };
  let child: ReturnType<typeof spawn> | undefined;
  const timer = setTimeout(() => {
    child?.kill("SIGKILL");
    finish();
  }, REPORT_TIMEOUT_MS);
  timer.unref();
  try {
    child = spawn("mat", ["hook", "pi", event], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", finish);
    child.on("close", finish);
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    child.unref();
  } catch {
    finish();
  }
}

/** The first `count` characters; never half of one, which would be no valid JSON text. */
function head(text: string, count: number): string {
  return [...text].slice(0, count).join("");
}

/** How long pi waits before attempt number `failures` + 1; 0 when it makes none. */
function retryDelayMs(cwd: string, failures: number): number {
  try {
    const { enabled, maxRetries, baseDelayMs } = SettingsManager.create(cwd).getRetrySettings();
    return enabled && failures <= maxRetries ? baseDelayMs * 2 ** (failures - 1) + RETRY_SLACK_MS : 0;
  } catch {
    return 10_000;
  }
}

export default function (pi: ExtensionAPI) {
  if (!process.env.MAT_SESSION) return;
  const reports = new Reports();
  let started_ms: number | undefined;
  let failures = 0;
  let held: { timer: NodeJS.Timeout; ended: Data } | undefined;

  /** A handler of pi's that can't fail and is not waited for. */
  const guarded =
    <E, C>(handle: (event: E, ctx: C) => void) =>
    (event: E, ctx: C): void => {
      try {
        handle(event, ctx);
      } catch {
        // mat sees the screen as well; pi's user must not see this.
      }
    };

  const endTurn = (data: Data) => {
    reports.send("turn-ended", { ...data, started_ms, attempts: failures + (data.outcome === "ok" ? 1 : 0) });
    started_ms = undefined;
    failures = 0;
  };

  /** No further attempt came: the failed one was the end of the turn. */
  const release = () => {
    if (held === undefined) return;
    clearTimeout(held.timer);
    const { ended } = held;
    held = undefined;
    endTurn(ended);
  };

  pi.on(
    "session_start",
    guarded((event, ctx) => {
      const file = ctx.sessionManager.getSessionFile();
      const pi_id = ctx.sessionManager.getSessionId();
      const session_id = file === undefined ? pi_id : basename(file, ".jsonl");
      reports.send("session-start", { reason: event.reason, cwd: ctx.cwd, session_id, session_file: file, pi_id });
    }),
  );

  pi.on(
    "input",
    guarded((event, ctx) => {
      release();
      reports.send("prompt-submitted", { prompt: event.text, source: event.source, while_busy: !ctx.isIdle() });
    }),
  );

  pi.on(
    "agent_start",
    guarded(() => {
      if (held !== undefined) {
        clearTimeout(held.timer);
        held = undefined;
        return;
      }
      started_ms = Date.now();
      reports.send("turn-started", {});
    }),
  );

  pi.on(
    "agent_end",
    guarded((event, ctx) => {
      const last = event.messages.filter((message) => message.role === "assistant").at(-1);
      const reason = last?.role === "assistant" ? last.stopReason : "error";
      if (reason === "aborted") return endTurn({ outcome: "error", error: "aborted", stop_reason: reason });
      if (reason !== "error") return endTurn({ outcome: "ok", stop_reason: reason });
      failures += 1;
      const error = (last?.role === "assistant" && last.errorMessage) || "no answer";
      const ended = { outcome: "error", error: head(error, 200), stop_reason: reason, ts_ms: Date.now() };
      const delay = retryDelayMs(ctx.cwd, failures);
      if (delay === 0) return endTurn(ended);
      held = { ended, timer: setTimeout(release, delay) };
    }),
  );

  pi.on(
    "session_compact",
    guarded((event) => {
      reports.send("compaction", { tokens_before: event.compactionEntry.tokensBefore });
    }),
  );

  pi.on("session_shutdown", async (event) => {
    try {
      release();
      reports.send("session-end", { reason: event.reason });
      await reports.drained();
    } catch {
      // As above.
    }
  });
}
