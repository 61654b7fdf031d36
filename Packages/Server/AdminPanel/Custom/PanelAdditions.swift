/// What an app adds to the panel: its own pages, and the way in which properties of its classes are shown and edited.
/// Everything else stays with the panel: identifying the caller, applying the rules, and protecting forms.
public struct PanelAdditions: Sendable {
    let pages: [any PanelSection]
    let fields: [PanelFieldStyle]

    /// - Parameters:
    ///   - pages: in the order of the navigation.
    ///   - fields: if several styles name the same property, the last one wins.
    public init(pages: [any PanelSection] = [], fields: [PanelFieldStyle] = []) {
        self.pages = pages
        self.fields = fields
    }
}
