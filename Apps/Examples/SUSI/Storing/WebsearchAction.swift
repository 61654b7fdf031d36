import Tombolo

/// A web search, with its results if the server has performed it.
class WebsearchAction: Object {
    @Persisted var query = ""
    /// How many results to show, or -1 for all.
    @Persisted var count = -1
    @Persisted var results: List<Entry>

    convenience init(query: String, limit: Int?, results: [Action.Entry]) {
        self.init()
        self.query = query
        count = limit ?? -1
        self.results.append(objectsIn: results.map { Entry($0) })
    }
}
