/// The actions that are stored with data of their own. Servers have others, which are stored as received.
enum ActionType: String, CaseIterable, Sendable {
    case answer
    case websearch
    case rss
    case table
    case map
    case anchor
    case stop
    case videoPlay = "video_play"
    case audioPlay = "audio_play"
}
