public import AdminPanel

/// What the event platform adds to the admin panel.
public enum ConferencePanel {
    public static let additions = PanelAdditions(pages: [SalesPages()], fields: TrackColors.styles)
}
