// Keeps the part of the address behind # while somebody signs in, so that a link to a page leads there.
for (const form of document.forms) form.action = form.getAttribute('action') + location.hash;
