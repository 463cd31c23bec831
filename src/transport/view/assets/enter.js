// The browser has its cookie now: goes to the page without the token, and keeps what is after `#`. A redirect of the server
// would not do, because it still counts as a step from where the browser came from, and the cookie is only sent from here.

location.replace(`./${location.hash}`);
