// A client of MCP that shows pages, in a browser: the host code of ext-apps and the client of the TypeScript SDK. bridge.mjs bundles it.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport, RESOURCE_MIME_TYPE, buildAllowAttribute, getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';

const SELF = { name: 'test', version: '0' };
const PAGES = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } };
const CAPABILITIES = { openLinks: {}, serverTools: {}, message: { text: {} } };

/** What the page asked of the client. */
globalThis.asked = { messages: [], links: [], heights: [] };

/** Connects to the server; `mode` is how the revision of the protocol is negotiated. */
globalThis.connect = async (mode, capabilities = PAGES) => {
  const client = new Client(SELF, { capabilities, versionNegotiation: { mode } });
  client.onerror = ({ message }) => globalThis.complain(message);
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', location.origin)));
  return client;
};

/** Calls a tool, and shows its result in the page that the tool names. */
globalThis.show = async ({ tool, given, mode, sandbox, context }) => {
  const client = await globalThis.connect(mode);
  const { tools } = await client.listTools();
  const uri = getToolUiResourceUri(tools.find(({ name }) => name === tool));
  const { contents: [{ text, mimeType, _meta: { ui } }] } = await client.readResource({ uri });
  if (mimeType !== RESOURCE_MIME_TYPE) throw new Error(`${mimeType} is not a page.`);
  const result = client.callTool({ name: tool, arguments: given });

  const frame = document.querySelector('iframe');
  frame.allow = buildAllowAttribute(ui.permissions);
  const bridge = new AppBridge(client, SELF, CAPABILITIES, { hostContext: context });
  bridge.onerror = ({ message }) => globalThis.complain(message);
  bridge.onmessage = async (message) => { globalThis.asked.messages.push(message); return {}; };
  bridge.onopenlink = async ({ url }) => { globalThis.asked.links.push(url); return {}; };
  bridge.onsizechange = ({ height }) => {
    const { heights } = globalThis.asked;
    heights.push(height);
    frame.style.height = `${height}px`;
    // As the frame is resized, basic-host reports its dimensions.
    globalThis.change({ containerDimensions: { maxHeight: 5000, maxWidth: 1000 + heights.length } });
  };
  bridge.onrequestdisplaymode = async ({ mode: displayMode }) => { globalThis.change({ displayMode }); return { mode: displayMode }; };
  bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html: text, csp: ui.csp, permissions: ui.permissions });
  bridge.oninitialized = async () => {
    await bridge.sendToolInput({ arguments: given });
    await bridge.sendToolResult(await result);
  };
  let state = context;
  globalThis.change = (changes) => { state = { ...state, ...changes }; bridge.setHostContext(state); };
  globalThis.leave = () => bridge.teardownResource({});
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = sandbox;
};
