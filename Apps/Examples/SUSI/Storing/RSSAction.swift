import Tombolo

/// A feed to show.
class RSSAction: Object {
    /// How many entries the server asked for, or -1 for all.
    @Persisted var count = -1
    @Persisted var feed: List<Entry>

    convenience init(limit: Int?, feed: [Action.Entry]) {
        self.init()
        count = limit ?? -1
        self.feed.append(objectsIn: feed.map { Entry($0) })
    }
}
