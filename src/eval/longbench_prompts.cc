#include "eval/longbench_prompts.h"

namespace looseleaf {
namespace {

// The benchmark writes the same text for three tasks.
constexpr std::string_view kPassages =
    "Answer the question based on the given passages. Only give me the answer and do not output "
    "any other words.\n\nThe following are given passages.\n{context}\n\nAnswer the question based "
    "on the given passages. Only give me the answer and do not output any other words.\n\n"
    "Question: {input}\nAnswer:";

// Source: config/dataset2prompt.json and dataset2maxlen.json of github.com/THUDM/LongBench (MIT).
// The benchmark gives multi_news and samsum 512 and 128 tokens.
constexpr LongBenchTask kTasks[] = {
    {"narrativeqa",
     "You are given a story, which can be either a novel or a movie script, and a question. Answer "
     "the question as concisely as you can, using a single phrase if possible. Do not provide any "
     "explanation.\n\nStory: {context}\n\nNow, answer the question based on the story as concisely "
     "as you can, using a single phrase if possible. Do not provide any explanation.\n\nQuestion: "
     "{input}\n\nAnswer:",
     128, false, false},
    {"qasper",
     "You are given a scientific article and a question. Answer the question as concisely as you "
     "can, using a single phrase or sentence if possible. If the question cannot be answered based "
     "on the information in the article, write \"unanswerable\". If the question is a yes/no "
     "question, answer \"yes\", \"no\", or \"unanswerable\". Do not provide any explanation.\n\n"
     "Article: {context}\n\n Answer the question based on the above article as concisely as you "
     "can, using a single phrase or sentence if possible. If the question cannot be answered based "
     "on the information in the article, write \"unanswerable\". If the question is a yes/no "
     "question, answer \"yes\", \"no\", or \"unanswerable\". Do not provide any explanation.\n\n"
     "Question: {input}\n\nAnswer:",
     128, false, false},
    {"multifieldqa_en",
     "Read the following text and answer briefly.\n\n{context}\n\nNow, answer the following "
     "question based on the above text, only give me the answer and do not output any other "
     "words.\n\nQuestion: {input}\nAnswer:",
     64, false, false},
    {"hotpotqa", kPassages, 32, false, false},
    {"2wikimqa", kPassages, 32, false, false},
    {"musique", kPassages, 32, false, false},
    {"gov_report",
     "You are given a report by a government agency. Write a one-page summary of the report.\n\n"
     "Report:\n{context}\n\nNow, write a one-page summary of the report.\n\nSummary:",
     512, true, false},
    {"qmsum",
     "You are given a meeting transcript and a query containing a question or instruction. Answer "
     "the query in one or more sentences.\n\nTranscript:\n{context}\n\nNow, answer the query based "
     "on the above meeting transcript in one or more sentences.\n\nQuery: {input}\nAnswer:",
     512, true, false},
    {"multi_news",
     "You are given several news passages. Write a one-page summary of all news. \n\nNews:\n"
     "{context}\n\nNow, write a one-page summary of all the news.\n\nSummary:",
     512, true, false},
    {"triviaqa",
     "Answer the question based on the given passage. Only give me the answer and do not output "
     "any other words. The following are some examples.\n\n{context}\n\n{input}",
     32, false, true},
    {"samsum",
     "Summarize the dialogue into a few short sentences. The following are some examples.\n\n"
     "{context}\n\n{input}",
     128, true, true},
};

}  // namespace

const LongBenchTask* find_longbench_task(std::string_view name) {
  if (name.ends_with("_e")) name.remove_suffix(2);  // LongBench-E: the same tasks, other lengths
  for (const LongBenchTask& task : kTasks)
    if (task.name == name) return &task;
  return nullptr;
}

std::string_view longbench_task_names() {
  return "narrativeqa, qasper, multifieldqa_en, hotpotqa, 2wikimqa, musique, gov_report, qmsum, "
         "multi_news, triviaqa, samsum";
}

}  // namespace looseleaf
