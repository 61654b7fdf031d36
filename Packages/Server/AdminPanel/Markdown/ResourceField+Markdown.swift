import TomboloHTTP
import TomboloJSONAPI

extension ResourceField {
    /// A value of the field as formatted Markdown for a record's page, where two heading levels are already in use. Nil
    /// unless the field is Markdown, for a text without visible content, and for one that is too long to be formatted.
    func markdownHTML(_ json: JSON?) -> PanelHTML? {
        guard isMarkdown, case .string(let text)? = json, let html = PanelHTML(markdown: text, firstHeading: 3),
            !html.isNull
        else { return nil }
        return html
    }
}
