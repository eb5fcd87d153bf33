/** What a client asks of an agent. */
export type AgentRequest = {
    /** What the user says now. What was said before is known by the thread. */
    messages: InputMessage[];
    /** The thread. Omitted: a new one. */
    threadId?: string;
    /** What else is brought along. */
    context?: RequestContext;
};
/** A message of a user. */
export type InputMessage = {
    /** What is said, in order. */
    content: UserContentBlock[];
};
/** A block of what a user says. Text is all there is so far; another type is refused. */
export type UserContentBlock = {
    type: "text";
    /** The text. */
    text: string;
};
/** What is brought along beside messages. */
export type RequestContext = {
    /** Answers to `continuation`s. */
    actionResults?: ActionResult[];
    [key: string]: unknown;
};
/** The answer to a `continuation`. */
export type ActionResult = {
    /** What is answered. */
    actionId: string;
    /** The kind that the `continuation` had. */
    kind: string;
    /** Whether it went well. */
    status: ResultStatus;
    /** What it brought. */
    data?: unknown;
    /** What went wrong. */
    error?: string;
};
/** Whether something went well. */
export type ResultStatus = "success" | "error";
/** Which turn of which thread it is. The first event of each connection. */
export type MetadataEvent = {
    event: "metadata";
    /** The turn. */
    requestId: string;
    /** The thread. */
    threadId: string;
    /** The agent, by its id. */
    agentId: string;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** What the agent says. */
export type TextEvent = {
    event: "text";
    /** The turn. */
    requestId: string;
    /** The message. */
    messageId: string;
    /** The block. */
    blockId: string;
    /** At the start: its place in the message. */
    blockIndex?: number;
    /** How far the block is. */
    stage: EventStage;
    /** Text to append. */
    delta?: string;
    /** With a delta: its place in the block. */
    deltaIndex?: number;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** What the model thinks. */
export type ThinkingEvent = {
    event: "thinking";
    /** The turn. */
    requestId: string;
    /** The message. */
    messageId: string;
    /** The block. */
    blockId: string;
    /** At the start: its place in the message. */
    blockIndex?: number;
    /** How far the block is. */
    stage: EventStage;
    /** Text to append. */
    delta?: string;
    /** With a delta: its place in the block. */
    deltaIndex?: number;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** A tool that the model calls. */
export type ToolCallEvent = {
    event: "tool_call";
    /** The turn. */
    requestId: string;
    /** The message. */
    messageId: string;
    /** The block. */
    blockId: string;
    /** At the start: its place in the message. */
    blockIndex?: number;
    /** How far the block is. */
    stage: EventStage;
    /** At the start and the stop: the call. */
    toolCallId?: string;
    /** At the start and the stop: the tool. */
    tool?: string;
    /** Text to append to the JSON of the arguments. */
    delta?: string;
    /** With a delta: its place in the block. */
    deltaIndex?: number;
    /** At the stop: the arguments, if what the model wrote is a JSON object. */
    args?: Record<string, unknown>;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** How a tool call ended. */
export type ToolResultEvent = {
    event: "tool_result";
    /** The turn. */
    requestId: string;
    /** The message, which is that of the call. */
    messageId: string;
    /** The block. */
    blockId: string;
    /** At the start: its place in the message. */
    blockIndex?: number;
    /** How far the block is. */
    stage: EventStage;
    /** The call. */
    toolCallId?: string;
    /** The tool. */
    tool?: string;
    /** At the stop: how it ended. */
    status?: ResultStatus;
    /** At the stop: the same for people. */
    summary?: string;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** Something that the client is to do before the turn goes on. */
export type ContinuationEvent = {
    event: "continuation";
    /** The turn. */
    requestId: string;
    /** What the answer names. */
    actionId: string;
    /** What kind of thing: `tool`, `approval`, `input`, or what the agent calls it. */
    kind: string;
    /** What is to be known about it: a `reason`, and the `payload` of the kind. */
    payload: Record<string, unknown>;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** The end: the turn is over, or waits for the client. */
export type DoneEvent = {
    event: "done";
    /** The turn. */
    requestId: string;
    /** The last message; the turn, if there is none. */
    messageId: string;
    /** The thread. */
    threadId: string;
    /** All blocks that count, in order. */
    content: AssistantContentBlock[];
    /** What models used, if both counts are known. */
    usage?: TokenUsage;
    /** Why it is done. */
    finishReason: FinishReason;
    /** A trace, for whoever looks into it. */
    traceId?: string;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** The end: the turn failed, or the stream did. */
export type ErrorEvent = {
    event: "error";
    /** The turn; where there is none, what the host's log has the failure under. */
    requestId: string;
    /** What went wrong, for people. */
    message: string;
    /** The same as a word. */
    code?: ErrorCode;
    /** Whether to ask again may help. */
    retryable?: boolean;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** The end: the turn was aborted. */
export type AbortedEvent = {
    event: "aborted";
    /** The turn. */
    requestId: string;
    /** The message that was under way. */
    messageId?: string;
    /** When, in RFC 3339. */
    timestamp: string;
};
/** An event of a stream. */
export type AgentEvent = MetadataEvent | TextEvent | ThinkingEvent | ToolCallEvent | ToolResultEvent | ContinuationEvent | DoneEvent | ErrorEvent | AbortedEvent;
/** How far a block is. */
export type EventStage = "start" | "delta" | "stop";
/** A block of what an agent says, thinks and does. */
export type AssistantContentBlock = {
    type: "text";
    /** The text. */
    text: string;
} | {
    type: "thinking";
    /** The text. */
    text: string;
} | {
    type: "tool_use";
    /** The call, which its result names. */
    toolCallId: string;
    /** The tool. */
    tool: string;
    /** What it is called with; empty where the model wrote no JSON object. */
    args: Record<string, unknown>;
} | {
    type: "tool_result";
    /** The call. */
    toolCallId: string;
    /** The tool. */
    tool: string;
    /** How. */
    status: ResultStatus;
    /** The same for people, if there is more to say. */
    summary?: string;
};
/** What models used. */
export type TokenUsage = {
    /** Tokens that were read. */
    promptTokens: number;
    /** Tokens that were written. */
    completionTokens: number;
};
/** Why a stream is done. */
export type FinishReason = "stop" | "length" | "error" | "action_required";
/** What went wrong. Before a stream has begun it is told with a status, afterwards by an event. */
export type ErrorCode = "auth_failed" | "thread_not_found" | "thread_access_denied" | "invalid_message_format" | "message_too_large" | "rate_limit_exceeded" | "stream_timeout" | "agent_error" | "tool_error" | "internal_error" | "invalid_action_id";
