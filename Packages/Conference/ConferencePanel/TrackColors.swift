import AdminPanel
import TomboloHTTP

/// The colours of tracks, with a swatch beside each value that the model calls `#RRGGBB`.
enum TrackColors {
    private static let shown = PanelTemplate(PackageResources.color_mustache)
    private static let control = PanelTemplate(PackageResources.color_control_mustache)

    static let styles = ["color", "fontColor"].map {
        PanelFieldStyle("Track", $0, shown: shown, control: control) { json in
            guard case .string(let text) = json, text.wholeMatch(of: /#[0-9A-Fa-f]{6}/) != nil else { return nil }
            return ["color": text]
        }
    }
}
