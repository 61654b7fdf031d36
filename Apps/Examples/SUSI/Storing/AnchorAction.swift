import Tombolo

/// A link to show.
class AnchorAction: Object {
    @Persisted var link = ""
    @Persisted var text = ""

    convenience init(link: String, text: String) {
        self.init()
        self.link = link
        self.text = text
    }
}
