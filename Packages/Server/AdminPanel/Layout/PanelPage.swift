public import HTTPTypes

/// The content of a page, without the frame that all pages share.
public struct PanelPage: Sendable {
    /// A link to a page above this one.
    public struct Crumb: Sendable {
        let title: String
        let path: String

        public init(title: String, path: String) {
            self.title = title
            self.path = path
        }
    }

    let title: String
    /// The pages above it, topmost first.
    let crumbs: [Crumb]
    let content: PanelHTML
    var status: HTTPResponse.Status
    /// The address of an event stream that the browser watches for changes while it shows the page.
    var watches: String?
    /// The number of seconds after which a browser without JavaScript reloads the page.
    var refreshSeconds: Int?

    /// - Parameter watches: the address of an event stream; only for the panel's own pages.
    public init(
        _ title: String, crumbs: [Crumb] = [], content: PanelHTML, status: HTTPResponse.Status = .ok,
        watches: String? = nil
    ) {
        self.title = title
        self.crumbs = crumbs
        self.content = content
        self.status = status
        self.watches = watches
    }
}
