package config

// preset is a step with a name.
type preset struct {
	name  string
	click []string // CSS selectors of the documented markup of a tool
	texts []string // what a button may say instead, in small letters
	times int      // 0 = once
}

// consent is the name of the preset that tries all consent tools.
const consent = "consent"

// presets lists the presets. Those for consent tools click what accepts everything: what a site embeds from others is
// shown only then. docs/decisions/0024-behaviours.md says why they are our own.
var presets = withConsent([]preset{
	{name: "complianz", click: []string{".cmplz-cookiebanner .cmplz-accept"}},
	{name: "consentmanager", click: []string{"#cmpwelcomebtnyes a", ".cmpboxbtnyes"}},
	{name: "cookiebot", click: []string{
		"#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll", "#CybotCookiebotDialogBodyButtonAccept",
	}},
	{name: "cookiefirst", click: []string{"[data-cookiefirst-action=accept]"}},
	{name: "cookieinformation", click: []string{".coi-banner__accept"}},
	{name: "cookieyes", click: []string{"[data-cky-tag=accept-button]"}},
	{name: "didomi", click: []string{"#didomi-notice-agree-button"}},
	{name: "inmobi", click: []string{`.qc-cmp2-summary-buttons button[mode="primary"]`}},
	{name: "iubenda", click: []string{".iubenda-cs-accept-btn"}},
	{name: "klaro", click: []string{".klaro .cm-btn-accept-all", ".klaro .cm-btn-success"}},
	{name: "onetrust", click: []string{"#onetrust-accept-btn-handler", "#accept-recommended-btn-handler"}},
	{name: "osano", click: []string{".osano-cm-accept-all", ".cc-window .cc-allow"}},
	{name: "sourcepoint", click: []string{".sp_choice_type_11", ".sp_choice_type_ACCEPT_ALL"}},
	{name: "termly", click: []string{`[data-tid="banner-accept"]`}},
	{name: "trustarc", click: []string{"#truste-consent-button"}},
	{name: "usercentrics", click: []string{
		`[data-testid="uc-accept-all-button"]`, "#usercentrics-cmp-ui #accept", "#uc-btn-accept-banner",
	}},
	{
		name: "load-more", times: 20,
		click: []string{
			"button.load-more, a.load-more, .load-more button, .load-more a, button.loadmore, a.loadmore, .load-more-button",
			"[data-action=load-more], [data-testid=load-more], [data-load-more], #load-more, #loadmore",
		},
		texts: []string{
			"load more", "show more", "view more", "see more", "more posts", "more entries", "older posts",
			"older entries", "mehr laden", "mehr anzeigen", "mehr beiträge", "weitere laden", "weitere anzeigen",
			"weitere beiträge", "ältere beiträge", "vis flere", "vis mere", "hent flere", "hent mere", "indlæs flere",
			"indlæs mere", "last inn flere", "last inn mer", "vis mer", "se flere", "visa fler", "visa mer",
			"ladda fler", "ladda mer", "läs in fler", "näytä lisää", "lataa lisää", "charger plus", "afficher plus",
			"voir plus", "plus d'articles", "cargar más", "mostrar más", "ver más", "carica altro", "carica altri",
			"mostra altro", "mostra altri", "meer laden", "laad meer", "toon meer", "meer tonen", "carregar mais",
			"mostrar mais", "ver mais", "pokaż więcej", "załaduj więcej", "zobrazit více", "načíst další",
			"načíst více", "laadi rohkem", "näita rohkem", "rādīt vairāk", "rodyti daugiau",
		},
	},
})

// withConsent puts the preset of all consent tools before them.
func withConsent(all []preset) []preset {
	whole := preset{name: consent}
	for _, p := range all {
		if p.texts == nil {
			whole.click = append(whole.click, p.click...)
		}
	}
	return append([]preset{whole}, all...)
}

// presetNames returns the names of the presets.
func presetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}
