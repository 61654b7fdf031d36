import Tombolo

/// An entry in a feed or in search results.
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
