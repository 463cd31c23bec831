// The browser has its cookie now: continues to the page without the token, and keeps the part after `#`. A server redirect would not
// work, because it still counts as navigation from the previous site, and the cookie is only sent from here.

location.replace(`./${location.hash}`);
