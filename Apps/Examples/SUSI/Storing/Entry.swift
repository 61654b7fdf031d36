import Tombolo

/// A line of a feed, or of the results of a search.
class Entry: Object {
    @Persisted var title = ""
    @Persisted var text = ""
    @Persisted var link = ""

    convenience init(_ entry: Action.Entry) {
        self.init()
        title = entry.title
        text = entry.description
        link = entry.link
    }
}
