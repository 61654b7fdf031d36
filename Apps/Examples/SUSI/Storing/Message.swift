import Foundation
import Tombolo

/// A line of the conversation: the user's question, or one action of an answer with its data.
class Message: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    /// The ``Exchange/identity`` of the exchange that it belongs to. Empty while the question is unanswered.
    @Persisted(indexed: true) var exchange = ""
    /// The order of arrival, which sorts messages of the same date.
    @Persisted(indexed: true) var position: Int
    @Persisted(indexed: true) var queryDate: Date
    @Persisted var answerDate: Date
    /// The user's question, or the text of the answer.
    @Persisted var message = ""
    @Persisted var fromUser = true
    /// False for a question that hasn't reached the server.
    @Persisted var isSent = true
    /// An ``ActionType``, or the server's name for an unknown action.
    @Persisted var actionType = ActionType.answer.rawValue
    @Persisted var skill = ""
    /// The action's JSON, if it wasn't fully understood.
    @Persisted var raw: String?
    @Persisted var answerData: AnswerAction?
    @Persisted var mapData: MapAction?
    @Persisted var anchorData: AnchorAction?
    @Persisted var rssData: RSSAction?
    @Persisted var tableData: TableAction?
    @Persisted var websearchData: WebsearchAction?
    @Persisted var mediaData: MediaAction?
}

extension Message {
    /// A question.
    convenience init(asking text: String, at date: Date, position: Int) {
        self.init()
        message = text
        queryDate = date
        answerDate = date
        self.position = position
    }

    /// An answer.
    convenience init(_ reply: Exchange.Reply, of exchange: Exchange, position: Int) {
        self.init()
        fromUser = false
        self.exchange = exchange.identity
        self.position = position
        queryDate = exchange.queryDate
        answerDate = exchange.answerDate
        skill = exchange.skill
        actionType = reply.action.type
        raw = reply.raw
        switch reply.action {
        case .answer(let expression, let language):
            message = expression
            answerData = AnswerAction(expression: expression, language: language)
        case .websearch(let query, let limit, let results):
            message = query
            websearchData = WebsearchAction(query: query, limit: limit, results: results)
        case .rss(let limit, let feed): rssData = RSSAction(limit: limit, feed: feed)
        case .table(let columns, let rows): tableData = TableAction(columns: columns, rows: rows)
        case .map(let latitude, let longitude, let zoom):
            mapData = MapAction(latitude: latitude, longitude: longitude, zoom: zoom)
        case .anchor(let link, let text):
            message = text
            anchorData = AnchorAction(link: link, text: text)
        case .video(let identifier, let kind), .audio(let identifier, let kind):
            mediaData = MediaAction(identifier: identifier, kind: kind)
        case .stop, .unknown: break
        }
    }
}
