/// What an app adds to the panel: pages of its own, and how properties of its classes are shown and edited. Everything else about
/// the panel stays as it is: who is asking, what the rules let them see, and how forms are protected.
public struct PanelAdditions: Sendable {
    let pages: [any PanelSection]
    let fields: [PanelFieldStyle]

    /// - Parameters:
    ///   - pages: in the order of the navigation.
    ///   - fields: of several for one property, the last one counts.
    public init(pages: [any PanelSection] = [], fields: [PanelFieldStyle] = []) {
        self.pages = pages
        self.fields = fields
    }
}
