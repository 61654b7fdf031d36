/// A part of the panel: pages and actions that belong together. ``AdminPanel`` explains how to write one.
public protocol PanelSection: Sendable {
    /// Registers the section's pages and actions while the server is being built.
    func add(to panel: PanelRoutes)
}
