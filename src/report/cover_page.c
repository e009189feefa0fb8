#include "report/cover_page.h"
#include "report/xml.h"

static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#1c1e21;--soft:#5b6169;--rule:#d9dce1;--panel:#f5f6f8;"
    "--hit:#e3f4e5;--hit-mark:#1a7431;--part:#fdf1cf;--part-mark:#7a5600;--miss:#fde3e1;--miss-mark:#b3261e;"
    "--link:#0b57d0;--bar:#2e9e4f;--rest:#d9dce1}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#15171a;--text:#e4e6ea;--soft:#9aa1ab;--rule:#33373d;"
    "--panel:#1e2125;--hit:#16301c;--hit-mark:#7ed492;--part:#3a2f10;--part-mark:#f0c75e;--miss:#3d1a18;"
    "--miss-mark:#ff9a92;--link:#8ab4f8;--bar:#4fbf70;--rest:#3a3f46}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif}\n"
    "main{max-width:1200px;margin:0 auto;padding:24px 20px 60px}\n"
    "h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:28px 0 10px;overflow-wrap:anywhere}"
    "h3{font-size:15px;margin:22px 0 8px}\n"
    "p{margin:4px 0 12px;color:var(--soft)}a{color:var(--link)}\n"
    ":focus-visible{outline:2px solid var(--link);outline-offset:1px}\n"
    "table{border-collapse:collapse}th{text-align:left;font-weight:600;color:var(--soft)}\n"
    "th,td{padding:4px 14px 4px "
    "0;vertical-align:top}.num{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".list{width:100%}.list tr{border-bottom:1px solid var(--rule)}.list "
    "td:last-child{width:100%;overflow-wrap:anywhere}.list .num{white-space:nowrap}\n"
    ".bar{display:inline-block;width:160px;height:10px;border-radius:5px;background:var(--rest);overflow:"
    "hidden}"
    ".bar i{display:block;height:100%;background:var(--bar)}\n"
    ".file{border:1px solid var(--rule);border-radius:8px;margin:10px 0;overflow:hidden}"
    ".file>summary{padding:8px 12px;background:var(--panel);cursor:pointer;overflow-wrap:anywhere}\n"
    ".scroll{overflow-x:auto}\n"
    ".src{width:100%;font:13px/1.45 ui-monospace,monospace}.src td{padding:0 10px 0 8px;white-space:pre}"
    ".src td.s{width:100%}\n"
    ".src .n,.src .c{text-align:right;color:var(--soft);user-select:none}.src .c{min-width:64px}\n"
    ".src .m{width:22px;padding:0 2px 0 6px}\n"
    "tr.hit{background:var(--hit)}tr.part{background:var(--part)}tr.miss{background:var(--miss)}\n"
    "tr.hit .m,tr.hit .c{color:var(--hit-mark)}tr.part .m,tr.part .c{color:var(--part-mark)}"
    "tr.miss .m,tr.miss .c{color:var(--miss-mark)}\n"
    ".src summary{list-style:none;cursor:pointer}.src summary::-webkit-details-marker{display:none}\n"
    ".asm{margin:2px 0 6px;padding:6px 10px;background:var(--back);border:1px solid "
    "var(--rule);border-radius:6px;"
    "color:var(--text)}.asm b{color:var(--soft);font-weight:normal}.asm .no{color:var(--miss-mark)}\n"
    ".one{color:var(--part-mark)}\n"
    "@media print{.file{break-inside:avoid}}\n";

void ct_cover_page_begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>Coverage of ",
          out);
    ct_xml_text(out, title);
    fputs("</title>\n<style>\n", out);
    fputs(style, out);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>Coverage of ", out);
    ct_xml_text(out, title);
    fputs("</h1>\n", out);
}

void ct_cover_page_end(FILE *out)
{
    fputs("</main>\n</body>\n</html>\n", out);
}
