/// A part of the panel: pages and actions that belong together. ``AdminPanel`` says how to write one.
public protocol PanelSection: Sendable {
    /// Registers the part's pages and actions, while the server is built.
    func add(to panel: PanelRoutes)
}
