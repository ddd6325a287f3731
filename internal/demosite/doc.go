// Package demosite is the site of a small newspaper that changes every few seconds. `arcrawl demo` crawls it, and so do
// tests that need ordinary pages.
//
// Everything it serves depends only on three things: when the site began, what time it is now, and which path is
// requested. (The feed also depends on the host in the request, because RSS needs absolute links.) There is no state,
// so a test can request any moment, forwards or backwards, and receives the same bytes each time. Nothing changes
// within one second, and no page ever returns to an earlier version.
//
// # Pages
//
//	path                      changes                               validators
//	/                         a headline about every 20 s, clock    none
//	/world/ /city/ /sport/    about every 45 s, clock               Last-Modified
//	/articles/N-words.html    once or twice in its first minutes    ETag, Last-Modified
//	/live.html                an entry about every 25 s, one hour   Last-Modified
//	/images/….png             never                                 ETag, Last-Modified
//	/style.css /about.html    never                                 ETag, Last-Modified
//	/archive.html (300 KB)    never                                 ETag, but If-None-Match is ignored
//	/feed.xml                 with each headline                    ETag, Last-Modified
//	/weather.html             clock; 503 for some of the time       none
//	/ticker.html              every second                          none
//	/latest                   redirects to the newest article       –
//	/letters.html             404, and linked                       –
//	/private/                 robots.txt forbids it, and linked     none
//
// Every fifth article is disputed. It is not corrected in the open: its headline is softened, then a paragraph is
// removed. It leaves the front page, and after about five minutes it is withdrawn with status 410. All entries of the
// liveblog stay.
//
// The front page, the sections, the weather and the ticker carry the time of day to the minute in
// <span class="clock">…</span>, as many sites do: their bytes change once a minute although their news does not.
// The clock of an article and of the pages that never change shows when they were last edited.
//
// /images/logo.png and /images/brand.png are the same bytes.
package demosite
