public import HTTPTypes

/// What a page says, apart from what is around it on every page.
public struct PanelPage: Sendable {
    /// A page above this one.
    public struct Crumb: Sendable {
        let title: String
        let path: String

        public init(title: String, path: String) {
            self.title = title
            self.path = path
        }
    }

    let title: String
    /// The pages above it, the highest first.
    let crumbs: [Crumb]
    let content: PanelHTML
    var status: HTTPResponse.Status
    /// What a browser watches for changes while it shows the page: the address of a stream of events.
    var watches: String?
    /// After how many seconds a browser without JavaScript loads the page again.
    var refreshSeconds: Int?

    /// - Parameter watches: of the panel's own pages: the address of a stream of events.
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
