import Tombolo

/// A search of the web, with its results where the server has done it.
class WebsearchAction: Object {
    @Persisted var query = ""
    /// How many results to show; -1 for all of them.
    @Persisted var count = -1
    @Persisted var results: List<Entry>

    convenience init(query: String, limit: Int?, results: [Action.Entry]) {
        self.init()
        self.query = query
        count = limit ?? -1
        self.results.append(objectsIn: results.map { Entry($0) })
    }
}
