import TomboloHTTP
import TomboloJSONAPI

extension ResourceField {
    /// A value of the field as the page of a record shows it, whose own headings have two levels; nil for any but a text in
    /// Markdown, and for one that has nothing to be seen or is too long to be formatted.
    func markdownHTML(_ json: JSON?) -> PanelHTML? {
        guard isMarkdown, case .string(let text)? = json, let html = PanelHTML(markdown: text, firstHeading: 3),
            !html.isNull
        else { return nil }
        return html
    }
}
