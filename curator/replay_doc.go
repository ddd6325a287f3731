// Package replay shows archived versions in a browser, from the archive that is being written.
//
// # Parts
//
// A [Player] serves an address of its own, so that archived pages have another origin than the dashboard. A frame of
// the dashboard opens /open/TICKET/TIMESTAMP/URI there. That page starts a service worker, player/sw.js, which loads
// the engine of ReplayWeb.page (wabac.js). The engine rewrites pages in the browser and asks
// /raw/TICKET/TIMESTAMP/URI for each of their files. The player answers with the payload of the capture that is
// nearest in time, which it takes from an [index.LiveReader]: also from WARC files that are still open, and with
// revisits resolved.
//
// The engine is licensed under the AGPL. It is no part of this program: a package of its own has it, and the player
// serves it from a folder.
//
// # What an archived page can do
//
// It can run its scripts, and nothing else. The dashboard's frame is sandboxed: no new windows, no navigation of the
// dashboard. The dashboard's policy keeps the frame at the player; so an archived page is not shown in a tab of its
// own. The content security policy of every answer allows connections to the player only. The player knows no token
// and no cookie of the dashboard; a [Tickets] value lets a browser read archived captures for some hours. The API
// refuses requests that pages of other origins send, see the package access. The worker accepts no messages and has no
// stored state, so that no archived page can change how another one is shown.
package curator
